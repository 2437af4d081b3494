import process from "node:process";
import { z } from "zod";

const projection = z.string().regex(/^[a-z][a-z_]{0,40}$/);

/** What the supervisor runs for the console: operator commands that need more rights than the console has. */
export const Operation = z.discriminatedUnion("command", [
  z.object({ command: z.literal("rebuild"), projection: projection.nullable() }),
  z.object({ command: z.literal("verify"), projection: projection.nullable() }),
  z.object({
    command: z.literal("release"),
    position: z.string().regex(/^[1-9]\d{0,17}$/),
    projection: projection.nullable(),
  }),
  z.object({ command: z.enum(["prune", "doctor"]) }),
]);
export type Operation = z.output<typeof Operation>;

/** From the console's process to the supervisor. */
export const OperationRequest = z.object({
  operation: z.object({ id: z.string().max(100), run: Operation }),
});

/** Its answer. `code` is null where the command could not be started or was killed. */
export const OperationEnded = z.object({
  ended: z.object({ id: z.string(), code: z.number().nullable(), output: z.string() }),
});

/** The arguments of `op`. */
export function operationArguments(operation: Operation): string[] {
  switch (operation.command) {
    case "rebuild":
    case "verify":
      return [operation.command, ...(operation.projection === null ? [] : [operation.projection])];
    case "release":
      return [
        ...["quarantine", "release", operation.position],
        ...(operation.projection === null ? [] : ["--projection", operation.projection]),
      ];
    case "prune":
      return ["prune", "--yes"];
    case "doctor":
      return ["doctor"];
  }
}

type OperationOutcome = { code: number | null; output: string };

/** Has the supervisor run an operator command. Resolves at its end. */
export type RunOperation = (id: string, operation: Operation) => Promise<OperationOutcome>;

/** Null where no supervisor started this process. */
export function openOperationRunner(): RunOperation | null {
  const send = process.send?.bind(process);
  if (send === undefined) return null;
  const waiting = new Map<string, (outcome: OperationOutcome) => void>();
  process.on("message", (message) => {
    const parsed = OperationEnded.safeParse(message);
    if (!parsed.success) return;
    const { id, code, output } = parsed.data.ended;
    waiting.get(id)?.({ code, output });
    waiting.delete(id);
  });
  return (id, operation) =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      send({ operation: { id, run: operation } });
    });
}
