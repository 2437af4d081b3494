import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Whether laws are tested on all their histories (`npm run test:scale`) or on a few (`npm test`). */
    isThorough: boolean;
  }
}

/** Seeds of a law's histories, or other cases of it; without thoroughness the first `few` of them. */
export const seedsOf = <Case>(all: readonly Case[], few = 1): readonly Case[] =>
  inject("isThorough") ? all : all.slice(0, few);

/** How often a property is tried. */
export const runsOf = (all: number, few: number): number => (inject("isThorough") ? all : few);
