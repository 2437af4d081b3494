import type { Fixture } from "./fixture.ts";

/** Something that a player does. What came of it, in a word or two; undefined: there was nothing to do. */
export type Move = (fixture: Fixture) => Promise<string | undefined>;
