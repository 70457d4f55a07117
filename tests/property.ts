/** The one door to the property testing library. */
export * from "npm:fast-check@4.10.2";
