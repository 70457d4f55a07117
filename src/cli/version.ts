/** The version of the program; one home, also for the protocol and the bundle. */
export const VERSION = "0.2.0";

/** The commit it was made from. Written into the bundle (`scripts/release/commit.ts`); empty in the sources. */
export const COMMIT: string = "";

/** Where the releases are. Written into the bundle of a release that has an address; empty otherwise. */
export const RELEASE_ADDRESS: string = "";
