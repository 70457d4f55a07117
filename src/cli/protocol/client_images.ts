/** Images in the message of a client, looked at before anything is made of them. */
import { AgentcliError } from "../../errors.ts";
import type { EncodedImage } from "../../protocol/input.ts";
import type { ShownImage } from "../../provider/chat/content.ts";
import { readEncodedImage } from "../../provider/chat/image_file.ts";

/** The images of one message. Throws `usage` for one that cannot be sent; nothing is ever fetched. */
export function clientImages(images: readonly EncodedImage[]): ShownImage[] {
  return images.map((sent, at) => {
    const name = String(at + 1);
    const read = "data" in sent ? readEncodedImage(sent.data, { name }) : null;
    if (read?.kind === "image") return read.image;
    throw new AgentcliError("usage", `image ${name} of the message cannot be sent: ${problemOf(read)}`, {
      hint: 'send PNG, JPEG or WebP as {"type":"base64","media_type":…,"data":…}',
    });
  });
}

function problemOf(read: ReturnType<typeof readEncodedImage> | null): string {
  if (read === null) return "its source is not base64, and nothing is fetched";
  return read.kind === "unusable" ? read.problem : "its data is no PNG, JPEG or WebP";
}
