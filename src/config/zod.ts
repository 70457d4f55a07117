/**
 * The schema library; the one module that imports it. Load it lazily: it stays off the path of a turn. Names, not the
 * whole: a bundle then leaves out what is not used (its translations alone are 400 KB).
 */
export {
  array,
  boolean,
  discriminatedUnion,
  enum,
  type infer,
  int,
  literal,
  never,
  null,
  number,
  object,
  record,
  strictObject,
  string,
  toJSONSchema,
  union,
  unknown,
  type ZodType,
} from "npm:zod@4.6.7";
