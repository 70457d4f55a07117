/** A stored session as one HTML file that loads and runs nothing: texts as they are, results folded. */
import { HEADING, sessionFacts } from "./export.ts";
import { imagesOf, type SessionItem } from "./item.ts";
import type { StoredSession } from "./load.ts";

const SIGNS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Nothing is fetched, whatever stands in the texts; signs that turn the direction of text are shown as such. */
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

/** The session as a page. */
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
