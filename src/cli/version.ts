/** The version of the program; one home, also for the protocol and the bundle. */
export const VERSION = "0.1.0";
