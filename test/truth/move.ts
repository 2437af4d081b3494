import type { Fixture } from "./fixture.ts";

/** An action of a player. Returns its outcome in a word or two; undefined: nothing to do. */
export type Move = (fixture: Fixture) => Promise<string | undefined>;
