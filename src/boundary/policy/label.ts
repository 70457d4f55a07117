/** What may leave and what may not: the label that every item of a session carries. */

/** `no-cloud`: for local models only. Labels only rise. */
export type Label = "open" | "no-cloud";

/** The label of a thing; one that carries none is protected. */
export function labelOf(item: { label?: Label | undefined }): Label {
  return item.label === "open" ? "open" : "no-cloud";
}

/** The higher of the labels; `open` when there are none. */
export function highestLabel(labels: Iterable<Label | undefined>): Label {
  for (const label of labels) {
    if (label !== "open") return "no-cloud";
  }
  return "open";
}
