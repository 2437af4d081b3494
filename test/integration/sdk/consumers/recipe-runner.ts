import type { Person } from "#test/support/orders/test-chains.ts";

type RunningRecipe = {
  /** What it has printed until now. */
  output(): string;
  /** Settles when the program has ended; rejects when it failed. */
  ended: Promise<void>;
  /** Ends it in the middle. */
  stop(): Promise<void>;
};

/** Runs recipes with the keys of some persons. */
export type RecipeRunner = {
  start(
    recipe: string,
    people: readonly Person[],
    settings?: Record<string, string>,
  ): Promise<RunningRecipe>;
  close(): Promise<void>;
};
