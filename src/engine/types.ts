/** What an engine is: data that says how a model server is started, asked, and ended. */

/** Systems that install hints are for. */
export type System = "linux" | "darwin" | "windows";

/** The values that stand for `{name}` in templates; one that is absent leaves out the option that needs it. */
export interface Values {
  /** The model as it was asked for; a path is absolute. */
  model?: string;
  /** The same, where it is a path that is there. */
  model_path?: string;
  /** The same, where it is none: an id of a hub or of the engine's own store. */
  model_id?: string;
  /** What requests are to call a model that was given as a path. */
  name?: string;
  host: string;
  /** The host as it stands in a URL: a v6 address in brackets. */
  url_host: string;
  port: string;
  /** Tokens of one conversation. */
  context_window?: string;
  /** Tokens of all conversations together. */
  context_total?: string;
  parallel?: string;
  /** Only ever in the environment, never in argv: everybody on a machine can list argv. */
  api_key?: string;
  tensor_parallel?: string;
  pipeline_parallel?: string;
  /** Set where Ray is to spread the model over machines. */
  ray?: string;
  /** Name of a parser that suits the model. */
  tool_parser?: string;
  /** Set unless the engine may fetch models. */
  offline?: string;
}

/** Names of {@link Values}. */
export type ValueName = keyof Values;

/** One option of a command. */
export interface OptionTemplate {
  flag: string;
  /** With `{name}` for values; without it the option is a switch. */
  value?: string;
  /** Left out unless this value is there; for switches. */
  needs?: ValueName;
  /** Never left out because a version does not know it: without it the engine would not do what was asked. */
  required?: true;
  /** The help of the installed version must match too: the flag may be older than what is given to it. */
  inHelp?: RegExp;
  /** The help must hold the value as a word. */
  valueInHelp?: true;
  /** Passed only to a version whose help names it, and not told otherwise: newer versions need it no more. */
  optional?: true;
  /** Left out together with this flag. */
  with?: string;
}

/** One program call. */
export interface Command {
  /** The first that is found is run. */
  programs: readonly string[];
  /** Words before the options, with `{name}`; a word whose value is absent is left out. */
  words: readonly string[];
  options: readonly OptionTemplate[];
  /** Words that make it print all options, tried in order; empty where there is nothing to check. */
  help: readonly (readonly string[])[];
  /** Only run where this value is there. */
  needs?: ValueName;
  /** A failure of it changes nothing: older versions have no such command, or there was nothing to do. */
  mayFail?: true;
}

/** How an engine runs. */
export type Running =
  /** A child that serves until it is ended; of several commands the first whose program is installed. */
  | { kind: "child"; commands: readonly Command[] }
  /** Calls that set up a server which lives elsewhere, and calls that take it down again. */
  | { kind: "service"; start: readonly Command[]; stop: readonly Command[] };

/** When an engine can be asked. By the body where servers answer anything with 200. */
export interface Ready {
  /** From the origin. */
  path: string;
  proves(answer: { status: number; json: unknown }): boolean;
}

/** An engine of the table, or one made of a template of the user. */
export interface Engine {
  /** Also the name of the provider that `--register` writes. */
  id: string;
  product: string;
  /** Default; null where `--port` has to be given. */
  port: number | null;
  /** Names of servers, as they are recognized, that are this engine. */
  servers: readonly string[];
  model: {
    /** Whether it starts without one. */
    required: boolean;
    takes: "id" | "path or id" | "file or id";
  };
  /** Default tokens of one conversation; absent: the engine decides. */
  contextWindow?: number;
  running: Running;
  environment: Readonly<Record<string, string>>;
  ready: Ready;
  /** The backend that is made to load the model once the server answers; others load it when they start. */
  preload?: string;
  install: Readonly<Record<System, string>>;
  /** Paragraphs of its help. */
  notes: readonly string[];
  /** A template of the user: its words are exactly what is run. */
  own?: true;
}
