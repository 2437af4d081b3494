import type { Target } from "#projections/engine/checkpoint.ts";
import type { Coverage } from "./coverage.ts";
import type { FaultyDatabase, Survivor } from "./faults.ts";
import type { Random } from "./random.ts";

/** A fault of the program: one projection fails on some facts, until a later release fixes it. */
export type ProgramFault = {
  /** Whether any projection ever fails. */
  occurs: boolean;
  /** The projection that fails; null: none does. */
  of: string | null;
  /** It fails on each fact whose position leaves this. */
  remainder: number;
};

/** What a run works with: random numbers, a database with injected faults, targets, a program fault, and coverage. */
export type RunContext = Survivor & {
  random: Random;
  faulty: FaultyDatabase;
  targets: readonly Target[];
  programFault: ProgramFault;
  coverage: Coverage;
};
