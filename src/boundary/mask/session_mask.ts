/** The mask of a session, made when the first command needs it: most sessions of most projects never do. */
import type { MakerOptions } from "./makers.ts";
import type { MaskedCommand, MaskRefusal, MaskRequest, MaskSettings, ProtectedPlaces } from "./request.ts";

/** What a session's mask is made from. */
export interface SessionMaskOptions extends MakerOptions {
  settings: MaskSettings;
  /** Real paths of the project and of additional directories. */
  roots: readonly string[];
  /** The user's home; undefined when unknown. */
  userHome: string | undefined;
  /** The value of PATH. */
  path: string;
}

/** Masks commands. */
export interface SessionMask {
  readonly settings: MaskSettings;
  /** The command behind the mask, or why there is none; it must not run then. */
  maskCommand(request: MaskRequest): Promise<MaskedCommand | MaskRefusal>;
  /** Whether commands may see the repositories of the roots; asked anew when index, history or rules have changed. */
  gitVisibility(roots: readonly string[], protection: ProtectedPlaces): Promise<"open" | "masked">;
}

/** A mask that costs nothing until it is used. */
export function createSessionMask(options: SessionMaskOptions): SessionMask {
  let opened: Promise<SessionMask> | null = null;
  const open = () => opened ??= import("./make_mask.ts").then(({ openMask }) => openMask(options));
  return {
    settings: options.settings,
    maskCommand: async (request) => (await open()).maskCommand(request),
    gitVisibility: async (roots, protection) => (await open()).gitVisibility(roots, protection),
  };
}
