import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Whether laws are tested on all their histories (`npm run test:scale`) or on a few (`npm test`). */
    isThorough: boolean;
  }
}

/** Seeds of a law's histories; without thoroughness the first `few` of them. */
export const seedsOf = (all: readonly number[], few = 1): readonly number[] =>
  inject("isThorough") ? all : all.slice(0, few);

/** How often a property is tried. */
export const runsOf = (all: number, few: number): number => (inject("isThorough") ? all : few);
