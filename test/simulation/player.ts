import type { Target } from "../../projections/engine/checkpoint.ts";
import type { FaultyDatabase, Survivor } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Reached } from "./reached.ts";

/** A release of the program that cannot take in some facts, and the one after it that can. */
export type Illness = {
  /** Whether any projection ever fails. */
  occurs: boolean;
  /** The projection that fails; null: none does. */
  of: string | null;
  /** It fails on each fact whose position leaves this. */
  remainder: number;
};

/** Who plays: numbers, a database that fails, the tables to fold and what fails of them, and what was reached. */
export type Player = Survivor & {
  random: Random;
  faulty: FaultyDatabase;
  targets: readonly Target[];
  illness: Illness;
  reached: Reached;
};
