/** The one importer of the JSON repair library; loaded only when arguments are broken. */

/** Mends JSON that is nearly right. Throws when it cannot. It drops lone backslashes: callers double them first. */
export type RepairJson = (text: string) => string;

/** Loads the library. */
export async function loadRepair(): Promise<RepairJson> {
  const { jsonrepair } = await import("npm:jsonrepair@3.15.0");
  return jsonrepair;
}
