import { z } from "zod";
import type { DetachedBorder } from "../../../projections/log/archives/detached-border.ts";
import { time } from "./wire.ts";

/** Set where old events have left the database for archives. */
export const archivedTo = z.object({ blockNumber: z.int().min(0), timestamp: time }).meta({
  id: "ArchivedTo",
  description:
    "The last block of which transfers, mints and burns may be in an archive alone: of those up to it some are left out. Sales, cancels and orders are all there. Absent: nothing is left out.",
});

export function presentBorder({
  blockNumber,
  timestamp,
}: DetachedBorder): z.output<typeof archivedTo> {
  return { blockNumber: Number(blockNumber), timestamp: timestamp.toISOString() };
}
