/** The commands of the chat, as help and completion list them. */
export const COMMAND_NAMES = [
  { name: "help", brief: "this list, and the keys" },
  { name: "model", brief: "go on with another model" },
  { name: "models", brief: "what the servers have" },
  { name: "tools", brief: "what the model can do" },
  { name: "permissions", brief: "what runs without asking" },
  { name: "context", brief: "what fills the window" },
  { name: "compact", brief: "summarise the older part now" },
  { name: "clear", brief: "begin a new session" },
  { name: "undo", brief: "take back what the last turn did to files" },
  { name: "diff", brief: "what this session changed" },
  { name: "resume", brief: "go on with a stored session" },
  { name: "export", brief: "write the session as Markdown, or as JSON: /export json" },
  { name: "secrets", brief: "what is protected here" },
  { name: "exit", brief: "leave; so do /quit, and either word alone" },
] as const;

/** The name of a command. */
export type CommandName = typeof COMMAND_NAMES[number]["name"];

/** Those that only tell, or change what a key may change at any time: they need not wait for the turn that runs. */
export const BESIDE_A_TURN: ReadonlySet<CommandName> = new Set(["help", "tools", "permissions", "context", "diff"]);

/** Whether a word is a command of the chat: no project can give it another meaning. */
export function isTaken(word: string): boolean {
  return word === "quit" || COMMAND_NAMES.some(({ name }) => name === word);
}
