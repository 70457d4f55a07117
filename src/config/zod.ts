/** The schema library; the one module that imports it. Load it lazily: it stays off the path of a turn. */
export * from "npm:zod@4.6.7";
