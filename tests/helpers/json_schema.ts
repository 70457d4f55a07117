/** As much of JSON Schema (2020-12) as the schemas of the fixtures use; a keyword that is not known throws. */

type Schema = Record<string, unknown>;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}

function hasType(value: unknown, type: unknown): boolean {
  return type === "integer" ? Number.isInteger(value) : typeOf(value) === type;
}

type Check = (limit: unknown, value: unknown, schema: Schema) => boolean | Problem[];

/** Where something is wrong, and by which keyword. */
export interface Problem {
  path: string;
  keyword: string;
}

const below = (name: string | number, problems: readonly Problem[]): Problem[] =>
  problems.map(({ path, keyword }) => ({ path: `/${name}${path}`, keyword }));

const schemasOf = (limit: unknown): Schema[] => Array.isArray(limit) ? limit.filter(isRecord) : [];
const passes = (value: unknown, schema: unknown): boolean => isRecord(schema) && problemsOf(value, schema).length === 0;
const membersOf = (value: unknown): [string, unknown][] => isRecord(value) ? Object.entries(value) : [];

const CHECKS: Readonly<Record<string, Check>> = {
  $schema: () => true,
  title: () => true,
  type: (limit, value) => hasType(value, limit),
  const: (limit, value) => value === limit,
  enum: (limit, value) => Array.isArray(limit) && limit.includes(value),
  minLength: (limit, value) => typeof value !== "string" || [...value].length >= Number(limit),
  maxLength: (limit, value) => typeof value !== "string" || [...value].length <= Number(limit),
  pattern: (limit, value) => typeof value !== "string" || new RegExp(String(limit), "u").test(value),
  required: (limit, value) =>
    !isRecord(value) || (Array.isArray(limit) && limit.every((name) => Object.hasOwn(value, name))),
  properties: (limit, value) =>
    membersOf(value).flatMap(([name, inner]) => {
      const schema = isRecord(limit) ? limit[name] : undefined;
      return isRecord(schema) ? below(name, problemsOf(inner, schema)) : [];
    }),
  additionalProperties: (limit, value, { properties }) =>
    membersOf(value).filter(([name]) => !isRecord(properties) || !Object.hasOwn(properties, name))
      .flatMap(([name, inner]) => {
        if (isRecord(limit)) return below(name, problemsOf(inner, limit));
        return limit === false ? [{ path: `/${name}`, keyword: "additionalProperties" }] : [];
      }),
  propertyNames: (limit, value) => membersOf(value).every(([name]) => passes(name, limit)),
  items: (limit, value) =>
    Array.isArray(value) && isRecord(limit) ? value.flatMap((inner, at) => below(at, problemsOf(inner, limit))) : true,
  oneOf: (limit, value) => schemasOf(limit).filter((schema) => passes(value, schema)).length === 1,
  anyOf: (limit, value) => schemasOf(limit).some((schema) => passes(value, schema)),
  not: (limit, value) => !passes(value, limit),
};

/** What is wrong with a value; nothing when it is as the schema says. */
export function problemsOf(value: unknown, schema: Schema): Problem[] {
  return Object.entries(schema).flatMap(([keyword, limit]) => {
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`the keyword ${keyword} is not known here`);
    const outcome = check(limit, value, schema);
    return outcome === true ? [] : outcome === false ? [{ path: "", keyword }] : outcome;
  });
}
