/** A stored session as one document: JSON, Markdown or HTML. It holds what the transcript holds, no more. */
import { fenced } from "../platform/text.ts";
import type { ShownImage } from "../provider/chat/content.ts";
import { imagesOf, type SessionItem } from "./item.ts";
import type { StoredSession } from "./load.ts";

/** The session as a value for JSON. */
export function sessionValue(stored: StoredSession): Record<string, unknown> {
  const { meta } = stored;
  return {
    session_id: stored.id,
    project: meta?.projectRoot ?? null,
    cwd: meta?.cwd ?? null,
    created: meta?.timestamp ?? null,
    updated: stored.updated === "" ? null : stored.updated,
    forked_from: meta?.forkedFrom ?? null,
    title: stored.title ?? null,
    provider: stored.provider ?? null,
    model: stored.model,
    turns: stored.turns,
    label: stored.label,
    redacted: stored.redacted,
    problems: stored.problems,
    system: stored.context?.system.text ?? null,
    items: stored.items.map(itemValue),
  };
}

function itemValue(item: SessionItem): Record<string, unknown> {
  switch (item.kind) {
    case "user":
      return { role: "user", origin: item.origin ?? "user", text: item.text, ...imageValues(item), label: item.label };
    case "assistant":
      return {
        role: "assistant",
        id: item.id,
        text: item.text,
        reasoning: item.reasoning,
        calls: item.calls.map(({ id, name, input }) => ({ id, name, input })),
        label: item.label,
      };
    case "tool_result":
      return {
        role: "tool",
        call_id: item.callId,
        name: item.name,
        content: item.content,
        ...imageValues(item),
        is_error: item.isError,
        label: item.label,
      };
  }
}

function imageValues(item: SessionItem): { images?: Record<string, unknown>[] } {
  const value = ({ name, mediaType, width, height, data }: ShownImage) => ({
    name,
    media_type: mediaType,
    width,
    height,
    data,
  });
  const images = imagesOf(item);
  return images.length === 0 ? {} : { images: images.map(value) };
}

/** Facts about a session, each with its name. */
function sessionFacts({ meta, ...stored }: StoredSession): [string, string][] {
  const facts: [string, string | undefined][] = [
    ["Name", stored.title],
    ["Project", meta?.projectRoot],
    ["Started", meta?.timestamp],
    ["Last written", stored.updated],
    ["Model", stored.provider === undefined ? stored.model : `${stored.provider}:${stored.model}`],
    ["Label", stored.label],
    ["Redacted", stored.redacted === 0 ? undefined : `${stored.redacted} items, protected and not stored`],
  ];
  return facts.flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, value]]
  );
}

/**
 * The session as Markdown. Images are named only. Texts of the user and the model are kept as they are; what tools saw
 * is fenced.
 */
export function sessionMarkdown(stored: StoredSession): string {
  const facts = sessionFacts(stored).map(([name, value]) => `- ${name}: ${value}`);
  const parts = [`# Session ${stored.id}`, facts.join("\n"), ...stored.items.map(itemMarkdown)];
  return parts.filter((part) => part !== "").join("\n\n") + "\n";
}

const HEADING = { user: "User", engine: "Engine", summary: "Summary", note: "Note", steering: "User" } as const;

function itemMarkdown(item: SessionItem): string {
  switch (item.kind) {
    case "user":
      return `## ${HEADING[item.origin ?? "user"]}\n\n${item.text}${imageLines(item)}`;
    case "assistant":
      return [
        "## Assistant",
        ...(item.reasoning === "" ? [] : [item.reasoning.split("\n").map((line) => `> ${line}`).join("\n")]),
        ...(item.text === "" ? [] : [item.text]),
        ...item.calls.map((call) => `Call of ${call.name}:\n\n${fenced(JSON.stringify(call.input, null, 2), "json")}`),
      ].join("\n\n");
    case "tool_result":
      return `### Result of ${item.name}${item.isError ? " (failed)" : ""}\n\n${fenced(item.content)}${
        imageLines(item)
      }`;
  }
}

function imageLines(item: SessionItem): string {
  return imagesOf(item).map(({ name, width, height }) => `\n\n[image ${name}, ${width}x${height}]`).join("");
}

const SIGNS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Nothing is fetched, whatever the texts hold; characters that change the direction of text are shown as such. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? "").replace(
    // deno-lint-ignore no-control-regex -- control characters have no place in a page
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u{${sign.charCodeAt(0).toString(16)}}`,
  );
}

const STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}" +
  "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:14px/1.45 ui-monospace,monospace;margin:.5rem 0}" +
  "section{border-top:1px solid #8886;padding:.5rem 0}.User{background:#8881;padding:.5rem 1rem}" +
  "h2{font-size:.9rem;margin:.3rem 0;opacity:.7}details{margin:.3rem 0}img{max-width:100%}" +
  ":root{color-scheme:light dark}";

/** The session as one HTML file that loads and runs nothing: texts as they are, results folded. */
export function sessionHtml(stored: StoredSession): string {
  const title = escaped(`Session ${stored.id}`);
  const facts = sessionFacts(stored).map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join("");
  return '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n' +
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; " +
    'img-src data:">\n' +
    '<meta name="viewport" content="width=device-width">\n' +
    `<title>${title}</title>\n<style>${STYLE}</style></head>\n<body><h1>${title}</h1>\n<dl>${facts}</dl>\n` +
    `${stored.items.map(itemHtml).join("\n")}\n</body></html>\n`;
}

function itemHtml(item: SessionItem): string {
  switch (item.kind) {
    case "user": {
      const heading = HEADING[item.origin ?? "user"];
      return `<section class="${heading}"><h2>${heading}</h2>${pre(item.text)}${images(item)}</section>`;
    }
    case "assistant":
      return [
        "<section><h2>Assistant</h2>",
        item.reasoning === "" ? "" : folded("Reasoning", item.reasoning),
        item.text === "" ? "" : pre(item.text),
        ...item.calls.map(({ name, input }) => folded(`Call of ${name}`, JSON.stringify(input, null, 2))),
        "</section>",
      ].join("");
    case "tool_result":
      return `<section>${folded(`Result of ${item.name}${item.isError ? " (failed)" : ""}`, item.content)}${
        images(item)
      }</section>`;
  }
}

function pre(text: string): string {
  return `<pre>${escaped(text)}</pre>`;
}

function folded(title: string, text: string): string {
  return `<details><summary>${escaped(title)}</summary>${pre(text)}</details>`;
}

function images(item: SessionItem): string {
  return imagesOf(item).map(({ name, mediaType, data }) =>
    /^[A-Za-z0-9+/=]*$/.test(data) ? `<p><img alt="${escaped(name)}" src="data:${mediaType};base64,${data}"></p>` : ""
  ).join("");
}
