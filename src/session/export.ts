/** A stored session as one document: for people, or for programs. It holds what the transcript holds, no more. */
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
export function sessionFacts({ meta, ...stored }: StoredSession): [string, string][] {
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

/** The session as Markdown. Images are named only. Texts of the user and the model stand as they are; what tools saw is fenced. */
export function sessionMarkdown(stored: StoredSession): string {
  const facts = sessionFacts(stored).map(([name, value]) => `- ${name}: ${value}`);
  const parts = [`# Session ${stored.id}`, facts.join("\n"), ...stored.items.map(itemMarkdown)];
  return parts.filter((part) => part !== "").join("\n\n") + "\n";
}

export const HEADING = { user: "User", engine: "Engine", summary: "Summary", note: "Note", steering: "User" } as const;

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
