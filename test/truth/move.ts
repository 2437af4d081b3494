import type { Stage } from "./stage.ts";

/** Something that a player does. What came of it, in a word or two; undefined: there was nothing to do. */
export type Move = (stage: Stage) => Promise<string | undefined>;
