/** Options of verbs, declared once: parsing, help, completions and docs all read these declarations. */

/** What completions offer for a value. */
export type Completion =
  | "provider"
  | "model"
  | "role"
  | "setting"
  | "setting_value"
  | "engine"
  | "session"
  | "topic"
  | "artifact"
  | "scaffold"
  | "installed_artifact"
  | "foreign_artifact"
  | "hook_event"
  | "file"
  | "directory";

interface Common {
  brief: string;
  /** Heading in the help; "Options" when absent. */
  group?: string;
  /** Not shown in help and completions. */
  hidden?: boolean;
}
/** Present or absent. */
export interface FlagOption extends Common {
  kind: "flag";
}
/** A value as typed; with `values` one of these. */
export interface TextOption<T extends string = string> extends Common {
  kind: "text";
  placeholder: string;
  values?: readonly T[];
  completion?: Completion;
}
/** A decimal number within bounds. */
export interface NumberOption extends Common {
  kind: "number";
  placeholder: string;
  integer: boolean;
  minimum: number;
  maximum: number;
}
/** May be given several times. */
export interface ListOption extends Common {
  kind: "list";
  placeholder: string;
  completion?: Completion;
}
export type Option = FlagOption | TextOption | NumberOption | ListOption;
/** Options of a verb by camelCase name (`baseUrl` is typed `--base-url` or `--baseUrl`). */
export type Options = Record<string, Option>;

type ValueOf<O extends Option> = O extends FlagOption ? boolean
  : O extends NumberOption ? number | undefined
  : O extends ListOption ? readonly string[]
  : O extends TextOption<infer T> ? T | undefined
  : never;
/** What a verb gets: flags are false and lists empty when not given, the others undefined. */
export type Values<O extends Options> = { readonly [K in keyof O]: ValueOf<O[K]> };

/** A switch. */
export function flag(brief: string, more: Omit<FlagOption, "kind" | "brief"> = {}): FlagOption {
  return { kind: "flag", brief, ...more };
}
/** A value; `placeholder` is what the help shows for it. */
export function text(
  placeholder: string,
  brief: string,
  more: Omit<TextOption, "kind" | "brief" | "placeholder" | "values"> = {},
): TextOption {
  return { kind: "text", placeholder, brief, ...more };
}
/** One of a few words. */
export function choice<const T extends string>(
  values: readonly T[],
  brief: string,
  more: Omit<TextOption, "kind" | "brief" | "placeholder" | "values"> = {},
): TextOption<T> {
  return { kind: "text", placeholder: values.join("|"), values, brief, ...more };
}
/** A whole number of at least 0 unless bounded otherwise. */
export function integer(
  placeholder: string,
  brief: string,
  more: Partial<Omit<NumberOption, "kind" | "brief" | "placeholder" | "integer">> = {},
): NumberOption {
  return {
    kind: "number",
    placeholder,
    brief,
    integer: true,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    ...more,
  };
}
/** A number with a fraction. */
export function decimal(
  placeholder: string,
  brief: string,
  more: Partial<Omit<NumberOption, "kind" | "brief" | "placeholder" | "integer">> = {},
): NumberOption {
  return { kind: "number", placeholder, brief, integer: false, minimum: 0, maximum: Number.MAX_VALUE, ...more };
}
/** Several values. */
export function list(
  placeholder: string,
  brief: string,
  more: Omit<ListOption, "kind" | "brief" | "placeholder"> = {},
): ListOption {
  return { kind: "list", placeholder, brief, ...more };
}
