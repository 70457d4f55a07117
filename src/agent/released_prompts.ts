/** Takes prompts that the user let through out of a request, before the rest of it is scanned. */

/** A request without those messages of the user: alone, or behind a summary that they were put together with. */
export function withoutPrompts(body: unknown, allowed: ReadonlySet<string>): unknown {
  if (typeof body !== "object" || body === null || !("messages" in body) || !Array.isArray(body.messages)) return body;
  const messages = body.messages.map((message: unknown) => {
    if (typeof message !== "object" || message === null || !("role" in message) || !("content" in message)) {
      return message;
    }
    const { role, content } = message;
    if (role !== "user") return message;
    if (typeof content === "string") return { ...message, content: withoutPrompt(content, allowed) };
    return Array.isArray(content)
      ? { ...message, content: content.map((part) => withoutPart(part, allowed)) }
      : message;
  });
  return { ...body, messages };
}

function withoutPrompt(content: string, allowed: ReadonlySet<string>): string {
  if (allowed.has(content)) return "";
  const behind = [...allowed].find((text) => content.endsWith(`\n\n${text}`));
  return behind === undefined ? content : content.slice(0, -behind.length);
}

/** A prompt with images is one message of several parts. */
function withoutPart(part: unknown, allowed: ReadonlySet<string>): unknown {
  const { text, image_url: image } = part as { text?: unknown; image_url?: { url?: unknown } };
  if (typeof text === "string") return withoutPrompt(text, allowed);
  return typeof image?.url === "string" && allowed.has(image.url) ? "" : part;
}
