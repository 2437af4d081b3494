import type { TextRow } from "#projections/analytics/read-rows.ts";

/** Writes rows of an export in some format. */
export type RowsWriter = {
  write(rows: readonly TextRow[]): Promise<void>;
  /** What the format has behind the last row. */
  end(): Promise<void>;
};
