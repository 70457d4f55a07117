/** Directories of the system whose files are doors, not content: reading them could show keys of other processes. */
const SYSTEM_DIRECTORY = /^\/(?:proc|sys|dev)(?:\/|$)/;

/** Whether a real path lies in one of them. Asked for every directory of a tree: one look at the beginning of the path. */
export function isOfSystem(real: string): boolean {
  return SYSTEM_DIRECTORY.test(real);
}
