import { z } from "zod";
import { statedIssue } from "#projections/domain/metadata/stated-issue.ts";
import { time } from "../wire.ts";

/** Whether a document was read, and what of it was not. */
export const MetadataState = z.object({
  status: z.enum(["ok", "pending", "failed"]),
  updatedAt: time.nullable(),
  issue: z.string().nullable().meta({
    description:
      "Why there is no metadata (`failed`), or what of the document was left out for a limit (`ok`), such as attributes beyond 200. null: nothing.",
  }),
});

/** As recorded; `status` null: never fetched. */
type RecordedState = { status: "ok" | "failed" | null; at: Date | null; issue: string | null };

export function presentMetadataState({
  status,
  at,
  issue,
}: RecordedState): z.output<typeof MetadataState> {
  return {
    status: status ?? "pending",
    updatedAt: at?.toISOString() ?? null,
    issue: status === "failed" ? statedIssue(issue ?? "") : issue,
  };
}
