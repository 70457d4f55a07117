/** The one import of the property testing library. */
export * from "npm:fast-check@4.10.2";
