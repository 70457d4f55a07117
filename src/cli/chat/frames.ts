/** When the live rows are drawn: at once after a key, and not for every token of a fast model. */

/** Drawing again is put off by this, so that a fast model costs no more than thirty drawings a second. Milliseconds. */
const FRAME_MS = 33;

/** The drawings of one screen. */
export interface Frames {
  /** Draws soon; what else asks until then is drawn with it. */
  soon(): void;
  /** Draws now. */
  now(): void;
  /** Draws nothing that was put off. */
  stop(): void;
}

/** Paces `draw`. */
export function createFrames(draw: () => void): Frames {
  let frame: ReturnType<typeof setTimeout> | null = null;
  const stop = () => {
    if (frame !== null) clearTimeout(frame);
    frame = null;
  };
  const now = () => {
    stop();
    draw();
  };
  return { soon: () => void (frame ??= setTimeout(now, FRAME_MS)), now, stop };
}
