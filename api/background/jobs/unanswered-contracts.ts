import type { Address } from "viem";
import { createCooldowns } from "../metadata/cooldowns.ts";

/** Contracts that a node gave no answer for: called again after a minute, after each further failure later. */
export const unansweredContracts = () =>
  createCooldowns<Address>({
    now: Date.now,
    failuresUntilCooldown: 1,
    initialMs: 60_000,
    maxMs: 3_600_000,
  });

export type UnansweredContracts = ReturnType<typeof unansweredContracts>;
