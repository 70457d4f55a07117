// The least a client has to do for a turn: ask, read the stream, print the text, read files when told to, ask again.
// Usage: deno run -A floor_client.js <base url> <model> <prompt>
const [baseUrl, model, prompt] = Deno.args;
const encoder = new TextEncoder();
const tools = [{
  type: "function",
  function: {
    name: "Read",
    description: "Reads a file",
    parameters: { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] },
  },
}];
const messages = [{ role: "user", content: prompt }];

async function reply() {
  const body = JSON.stringify({ model, messages, tools, stream: true });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${baseUrl}/chat/completions`, { method: "POST", headers, body });
  const reader = response.body.getReader({ mode: "byob" });
  const decoder = new TextDecoder();
  const texts = [];
  const calls = [];
  let space = new Uint8Array(65536);
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read(space);
    if (done) return { texts, calls };
    rest += decoder.decode(value, { stream: true });
    space = new Uint8Array(value.buffer);
    const lines = rest.split("\n");
    rest = lines.pop();
    let arrived = "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
      if (delta?.content) arrived += delta.content;
      for (const { index, id, function: called } of delta?.tool_calls ?? []) {
        calls[index] ??= { id, type: "function", function: { name: called.name, arguments: "" } };
        calls[index].function.arguments += called.arguments ?? "";
      }
    }
    if (arrived === "") continue;
    texts.push(arrived);
    Deno.stdout.writeSync(encoder.encode(arrived));
  }
}

for (;;) {
  const { texts, calls } = await reply();
  if (calls.length === 0) break;
  messages.push({ role: "assistant", content: texts.join(""), tool_calls: calls });
  for (const call of calls) {
    const content = await Deno.readTextFile(JSON.parse(call.function.arguments).file_path);
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
}
