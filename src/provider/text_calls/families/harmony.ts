/**
 * gpt-oss: `<|channel|>commentary to=functions.n <|constrain|>json<|message|>{…}<|call|>`; the recipient may stand before
 * the channel: `<|start|>assistant to=functions.n<|channel|>commentary json<|message|>{…}<|call|>`.
 * Source: OpenAI's harmony response format guide; fixtures `harmony*`.
 */
import type { Cursor } from "../cursor.ts";
import type { Family } from "../family.ts";
import { readArgumentsObject } from "../json_call.ts";

const CHANNELS = ["commentary", "analysis"] as const;

export const HARMONY: Family = {
  name: "harmony",
  openers: [...CHANNELS.map((channel) => `<|channel|>${channel} to=`), "<|start|>assistant to="],
  before: ["<|start|>assistant"],
  after: ["<|call|>", "<|end|>"],
  read(cursor, tools) {
    if (cursor.take("<|channel|>")) takeChannel(cursor);
    else cursor.take("<|start|>assistant");
    cursor.skipSpace();
    cursor.take("to=");
    const name = cursor.takeName();
    if (name === null) return null;
    cursor.skipSpace();
    if (cursor.take("<|channel|>")) takeChannel(cursor);
    cursor.skipSpace();
    cursor.take("<|constrain|>");
    cursor.takeAny(["json", "code"]);
    cursor.skipSpace();
    if (!cursor.take("<|message|>")) return null;
    cursor.skipSpace();
    return readArgumentsObject(cursor, { name, tools });
  },
};

function takeChannel(cursor: Cursor): void {
  cursor.takeAny(CHANNELS);
}
