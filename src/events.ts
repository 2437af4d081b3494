import { ponder } from "ponder:registry";
import { event as events } from "ponder:schema";
import { type EmittedEvent, emittedRow, hasTopicsOf } from "./emitted-row.ts";
import { settings } from "./settings.ts";

type Insert = (table: typeof events) => {
  values: (row: ReturnType<typeof emittedRow>) => Promise<unknown>;
};
type Handler = (input: {
  event: EmittedEvent;
  context: { chain: { id: number }; db: { insert: Insert } };
}) => Promise<void>;

/** The names of sources and events are known at run time only, which Ponder's types do not foresee. */
const registry = ponder as unknown as { on: (name: string, handler: Handler) => void };

for (const source of settings.sources) {
  for (const shape of source.events) {
    const { name } = shape;
    registry.on(`${source.name}:${name}`, async ({ event, context }) => {
      if (!hasTopicsOf(shape, event.log)) return;
      await context.db.insert(events).values(emittedRow(event, context.chain.id, source, name));
    });
  }
}
