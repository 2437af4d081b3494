import type { Actors } from "./actors.ts";
import type { Venue } from "./party.ts";

/** A small story that leaves the market able to play any other. */
export type Episode = (venue: Venue, actors: Actors) => Promise<void>;
