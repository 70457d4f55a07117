/** Reads the lines of a transcript: `unknown` in, checked parts out. Anything that does not fit is null. */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import { IMAGE_TYPES, type ShownImage } from "../provider/chat/content.ts";
import { fieldsOf, isRecord, type JsonRecord, membersOf, parseJson, textOf } from "../platform/record.ts";
import type { ToolSchema } from "../provider/types.ts";
import type { ProtectedSource, SessionItem, ToolCall, UsedFiles } from "./item.ts";
import { FORMAT, type LineState, type MetaLine, type NamedItem, type SessionContext } from "./line.ts";

export type ReadLine =
  | { kind: "meta"; sessionId: string; meta: MetaLine }
  | { kind: "item"; named: NamedItem; timestamp: string | null; state: LineState | null }
  | { kind: "context"; context: SessionContext | null; state: LineState | null; timestamp: string | null }
  | { kind: "rewritten"; items: (string | NamedItem)[]; state: LineState | null; timestamp: string | null }
  /** For people who read the file. */
  | { kind: "note"; state: LineState | null; timestamp: string | null };

/** Reads one line; null when it is no line of a transcript. */
export function readLine(text: string): ReadLine | null {
  const line = fieldsOf(parseJson(text));
  switch (line.type) {
    case "meta":
      return readMeta(line);
    case "user":
    case "assistant": {
      const named = readItem(line);
      return named === null ? null : { kind: "item", named, ...common(line) };
    }
    case "agentcli":
      return readOwn(line);
    default:
      return null;
  }
}

/** Matches the beginning of a first prompt with images, up to the end of its text. */
const BEGUN_PROMPT =
  /^\{"parentUuid":null,[^[\]]*"message":\{"role":"user","content":\[\{"type":"text","text":("(?:[^"\\]|\\.)*")/;

/**
 * Returns the user's words from the beginning of a line; null if they are not complete, or it is another kind of line.
 * Lines with images are long, and have the images after the words.
 */
export function readBegunPrompt(text: string): string | null {
  const words = BEGUN_PROMPT.exec(text)?.[1];
  return words === undefined ? null : String(JSON.parse(words));
}

function common(line: JsonRecord): { timestamp: string | null; state: LineState | null } {
  return { timestamp: textOf(line.timestamp), state: readLineState(line.agentcli) };
}

function readLineState(value: unknown): LineState | null {
  const fields = fieldsOf(value);
  if (typeof fields.turn !== "number" || typeof fields.model !== "string") return null;
  return {
    turn: fields.turn,
    model: fields.model,
    provider: textOf(fields.provider) ?? undefined,
    title: textOf(fields.title) ?? undefined,
    isRefused: fields.isRefused === true,
    sessionLabel: readLabel(fields.sessionLabel),
  };
}

/** Reads a label; one that is missing or altered counts as `no-cloud`. */
function readLabel(value: unknown): Label {
  return labelOf({ label: value === "open" ? "open" : "no-cloud" });
}

function readMeta(line: JsonRecord): ReadLine | null {
  const { sessionId, projectRoot, cwd, version, model, timestamp, removed, forkedFrom } = line;
  if (typeof line.format !== "number" || line.format > FORMAT) return null;
  if (typeof sessionId !== "string" || typeof projectRoot !== "string" || typeof timestamp !== "string") return null;
  return {
    kind: "meta",
    sessionId,
    meta: {
      projectRoot,
      timestamp,
      cwd: textOf(cwd) ?? projectRoot,
      version: textOf(version) ?? "",
      model: textOf(model) ?? "",
      removed: Number.isSafeInteger(removed) ? removed as number : 0, // checked by the call before
      ...(typeof forkedFrom === "string" ? { forkedFrom } : {}),
    },
  };
}

function readOwn(line: JsonRecord): ReadLine | null {
  switch (line.subtype) {
    case "context":
      return { kind: "context", context: readContext(line), ...common(line) };
    case "rewritten": {
      if (!Array.isArray(line.items)) return null;
      const items = line.items.map((entry) => {
        if (typeof entry === "string") return entry;
        return readItem(fieldsOf(entry));
      });
      // An entry that cannot be read would leave a gap: the caller keeps the items that it has.
      return items.includes(null)
        ? null
        : { kind: "rewritten", items: items as (string | NamedItem)[], ...common(line) };
    }
    case "note":
      return isRecord(line.note) ? { kind: "note", ...common(line) } : null;
    default:
      return null;
  }
}

/** Null where the system message was protected, and so was not stored. */
function readContext(line: JsonRecord): SessionContext | null {
  const system = fieldsOf(line.system);
  if (typeof system.text !== "string" || !Array.isArray(line.tools)) return null;
  const tools: ToolSchema[] = [];
  for (const entry of line.tools) {
    const { name, description, parameters } = fieldsOf(fieldsOf(entry).function);
    if (typeof name !== "string" || typeof description !== "string" || !isRecord(parameters)) return null;
    tools.push({ type: "function", function: { name, description, parameters } });
  }
  return {
    system: { text: system.text, label: readLabel(system.label), ...readFiles(system.files) },
    tools,
    ...(typeof line.toolProtocol === "string" ? { toolProtocol: line.toolProtocol } : {}),
  };
}

function readItem(line: JsonRecord): NamedItem | null {
  const uuid = textOf(line.uuid);
  if (uuid === null) return null;
  const parts = { message: fieldsOf(line.message), label: readLabel(line.label), extras: fieldsOf(line.agentcli) };
  const item = line.type === "assistant" ? readAssistant(parts) : readUser(parts);
  return item === null ? null : { uuid, item };
}

interface ItemParts {
  message: JsonRecord;
  label: Label;
  extras: JsonRecord;
}

function readUser({ message, label, extras }: ItemParts): SessionItem | null {
  const known = { ...readSource(extras.source), ...readFiles(extras.files) };
  const words = readContent(message.content, extras.images);
  if (words !== null) {
    // Earlier versions kept changes of files under the number of prompts so far.
    const { origin, said = origin === undefined ? extras.turn : undefined } = extras;
    return {
      kind: "user",
      ...words,
      label,
      ...(origin === "engine" || origin === "summary" || origin === "note" || origin === "steering" ? { origin } : {}),
      ...(typeof said === "number" ? { said } : {}),
      ...known,
    };
  }
  const block = fieldsOf(membersOf(message.content)[0]);
  const shown = readContent(block.content, extras.images);
  if (block.type !== "tool_result" || typeof block.tool_use_id !== "string" || shown === null) return null;
  const { text, ...images } = shown;
  return {
    kind: "tool_result",
    callId: block.tool_use_id,
    name: textOf(extras.name) ?? "",
    content: text,
    ...images,
    isError: block.is_error === true,
    label,
    ...known,
  };
}

/** A text, or a text block with images after it; null for anything else. */
function readContent(value: unknown, facts: unknown): { text: string; images?: ShownImage[] } | null {
  if (typeof value === "string") return { text: value };
  if (!Array.isArray(value)) return null;
  const [first, ...rest] = value.map(fieldsOf);
  if (first?.type !== "text" || typeof first.text !== "string") return null;
  const factsOfEach = membersOf(facts);
  const images = rest.map((block, at) => readImage(block, fieldsOf(factsOfEach[at])));
  if (!images.every((image) => image !== null)) return null;
  return { text: first.text, ...(images.length === 0 ? {} : { images }) };
}

function readImage(block: JsonRecord, facts: JsonRecord): ShownImage | null {
  const source = fieldsOf(block.source);
  const mediaType = IMAGE_TYPES.find((type) => type === source.media_type);
  if (block.type !== "image" || mediaType === undefined || typeof source.data !== "string") return null;
  const side = (value: unknown) => typeof value === "number" && value >= 1 ? value : 1;
  return {
    mediaType,
    data: source.data,
    width: side(facts.width),
    height: side(facts.height),
    name: textOf(facts.name) ?? "",
  };
}

function readSource(value: unknown): { source?: ProtectedSource } {
  const source = fieldsOf(value);
  if (typeof source.path !== "string" || typeof source.rule !== "string") return {};
  return { source: { path: source.path, rule: source.rule } };
}

function readFiles(value: unknown): { files?: UsedFiles } {
  return Array.isArray(value) ? { files: value.filter((file) => typeof file === "string") } : {};
}

function readAssistant({ message, label, extras }: ItemParts): SessionItem | null {
  if (typeof message.id !== "string" || !Array.isArray(message.content)) return null;
  let [text, reasoning] = ["", ""];
  const calls: ToolCall[] = [];
  const odd = membersOf(extras.calls);
  for (const entry of message.content) {
    const block = fieldsOf(entry);
    if (block.type === "text" && typeof block.text === "string") text += block.text;
    else if (block.type === "thinking" && typeof block.thinking === "string") reasoning += block.thinking;
    else if (block.type === "tool_use") {
      const call = readCall(block, fieldsOf(odd[calls.length]));
      if (call === null) return null;
      calls.push(call);
    } else return null;
  }
  return { kind: "assistant", id: message.id, text, reasoning, calls, label };
}

function readCall({ id, name, input }: JsonRecord, odd: JsonRecord): ToolCall | null {
  if (typeof id !== "string" || typeof name !== "string" || !isRecord(input)) return null;
  return {
    id,
    name,
    input: odd.unread === true ? null : input,
    ...(typeof odd.problem === "string" ? { problem: odd.problem } : {}),
  };
}
