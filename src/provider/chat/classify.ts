/**
 * Tells what a server's error is about, by tables. Source: wire reference, §9 and §12.
 * Texts are tested before the status: llama.cpp reports an overflow as 500, others as 413 or 422.
 */
import type { QuirkKind } from "../backends/backend.ts";
import { BACKENDS } from "../backends/backends.ts";
import type { FailureKind } from "../failure.ts";
import type { ServerError } from "./server_error.ts";

/** Kinds that a server itself can report. */
export type ServerErrorKind = Exclude<
  FailureKind,
  "refused" | "unreachable" | "lost" | "timeout" | "invalid" | "empty"
>;

interface Signs {
  images: boolean;
  /** Message, type and code of the error, in one text. */
  text: string;
  status: number;
  error: ServerError;
}

/** Words of more than one server; those of one are in its file in `backends/`. Parts of regular expressions. */
const COMMON: Partial<Record<QuirkKind, readonly string[]>> = {
  context: [
    "context_length_exceeded",
    "exceeds? the (?:available |model's )?(?:maximum )?context",
    "prompt (?:is|contains) too (?:long|many)",
    "too many (?:input |prompt )?tokens",
  ],
  no_images: [
    "\\bsupport(?:s|ed|ing)? (?:for )?(?:image|vision)",
    "(?:image|vision)s? (?:input )?(?:is|are) not (?:supported|enabled|available)",
    "does not (?:accept|support|take|have) (?:multi-?modal|image|vision)",
    // OpenAI, and those that know strings alone.
    "image_url",
  ],
  // Groq.
  tool_parse: ["tool_use_failed"],
  loading: ["warming"],
  model: ["model_not_found", "models? ['\"`]?[^ ]{0,200} (?:was )?not found"],
  // A chat template that cannot show what the request holds: some servers pass on what the template itself says.
  template: [
    "template",
    "single tool.calls",
    "roles must alternate",
    "roles? (?:is |are )?not supported",
    "only .{0,60}\\broles are supported",
  ],
};

const patterns = new Map<QuirkKind, RegExp>();

/** Returns whether a text has words of any server for this kind of error: which server it is may not be known. */
function mentions(text: string, kind: QuirkKind): boolean {
  let pattern = patterns.get(kind);
  if (pattern === undefined) {
    const parts = [...COMMON[kind] ?? [], ...BACKENDS.flatMap(({ errors }) => errors?.[kind] ?? [])];
    patterns.set(kind, pattern = new RegExp(parts.join("|"), "i"));
  }
  return pattern.test(text);
}

/** A picture that the server could not read. */
const BAD_IMAGE =
  /(?:load|decode|process|read|open|parse|identify|invalid|unsupported|corrupt\w*|bad)\W+(?:\w+\W+){0,2}images?\b|\bimages?\W+(?:\w+\W+){0,3}(?:invalid|corrupt|decode|unsupported)/i;

/** The first rule that holds gives the kind. */
const KINDS: readonly { kind: ServerErrorKind; when: (signs: Signs) => boolean }[] = [
  { kind: "context", when: ({ text }) => mentions(text, "context") },
  { kind: "cloud_disabled", when: ({ text, error }) => mentions(text, "cloud_disabled") || error.wantsSignIn },
  { kind: "no_tools", when: ({ text }) => mentions(text, "no_tools") },
  // Only where images were sent: words such as these mean something else otherwise.
  { kind: "no_images", when: ({ text, images }) => images && mentions(text, "no_images") },
  { kind: "bad_image", when: ({ text, images }) => images && BAD_IMAGE.test(text) },
  { kind: "tool_parse", when: ({ text }) => mentions(text, "tool_parse") },
  { kind: "request", when: ({ text }) => /invalid host header/i.test(text) },
  {
    kind: "quota",
    when: ({ status, text }) => status === 402 || /insufficient_quota|insufficient credits/i.test(text),
  },
  { kind: "loading", when: ({ status, text }) => status === 503 && mentions(text, "loading") },
  { kind: "model", when: ({ text }) => mentions(text, "model") },
  { kind: "auth", when: ({ status, text }) => status === 401 || status === 403 || /authentication_error/i.test(text) },
  { kind: "busy", when: ({ status }) => [408, 409, 425, 429, 498, 503, 529].includes(status) },
  // What the request holds makes the server fail: the same again fails again.
  { kind: "request", when: ({ text }) => mentions(text, "request") },
  { kind: "template", when: ({ text }) => mentions(text, "template") },
  { kind: "transient", when: ({ status }) => status >= 500 },
  { kind: "request", when: ({ status }) => status >= 400 },
  { kind: "stream", when: () => true },
];

/** Returns the kind of a server's error. `status`: 200 for an error inside a stream; `images`: the request had some. */
export function classify(
  error: ServerError,
  status: number,
  { images = false }: { images?: boolean } = {},
): ServerErrorKind {
  const text = [error.message, error.type, error.code].filter((part) => part !== null).join(" ");
  // Inside a stream the code of the error takes the place of the status.
  const inner = typeof error.code === "number" && error.code >= 400 && error.code < 600 ? error.code : status;
  const signs = { text, error, images, status: status < 400 ? inner : status };
  const kind = KINDS.find((rule) => rule.when(signs))?.kind ?? "stream";
  return kind === "transient" && status < 400 ? "stream" : kind;
}
