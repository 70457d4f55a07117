/** The content of a message, which is a string or, where it shows images, a list of parts. */
import type { ContentPart, WireMessage } from "../types.ts";

/** The words of a message; images have none. */
export function wordsOf(message: WireMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => part.type === "text" ? part.text : "").join("");
}

/** The images of a message. */
export function imageParts(message: WireMessage): ContentPart[] {
  return typeof message.content === "string" ? [] : message.content.filter((part) => part.type === "image_url");
}
