import type { HostileReport, TrickCosts } from "./run.ts";
import { quantile, type Samples } from "./samples.ts";

export type Goal = { readonly text: string; readonly isMet: boolean };

/** Times that honest callers may wait longer beside hostile contracts than alone. */
const slower = { reads: 2, intake: 3, blocks: 3 } as const;
const maxMegabytes = 600;
const maxBytesPerGas = 1;

const titles = {
  reads: "reads",
  intake: "intake of signed orders",
  blocks: "block until HTTP",
} as const;

export function goalsOf(report: HostileReport): Goal[] {
  const { alone, beside, tricks, mixed, memory, readySeconds, brokenLaws } = report;
  const kinds = ["reads", "intake", "blocks"] as const;
  const [largest = ["", 0]] = [...memory].toSorted(([, one], [, other]) => other - one);
  const worst = tricks.toSorted((one, other) => bytesPerGas(other) - bytesPerGas(one))[0];
  const faults = [...alone.faults, ...beside.faults];
  return [
    ...kinds.map((kind) => latencyGoal(kind, report)),
    {
      text: `memory of each process at most ${maxMegabytes} MB: ${largest[1]} MB (${largest[0]})`,
      isMet: largest[1] <= maxMegabytes,
    },
    {
      text: `database at most ${maxBytesPerGas} byte per gas: all together ${bytesPerGas(mixed).toFixed(3)}`,
      isMet: bytesPerGas(mixed) <= maxBytesPerGas,
    },
    ...(worst === undefined
      ? []
      : [
          {
            text: `each trick by itself, too: ${worst.name} ${bytesPerGas(worst).toFixed(3)}`,
            isMet: bytesPerGas(worst) <= maxBytesPerGas,
          },
        ]),
    {
      text: `no 5xx but 503 with Retry-After: ${faults.length} others ${faults.slice(0, 3).join("; ")}`,
      isMet: faults.length === 0,
    },
    {
      text: `nothing lost: ${brokenLaws.length} broken laws, current ${readySeconds} s after the end`,
      isMet: brokenLaws.length === 0,
    },
  ];
}

function latencyGoal(
  kind: keyof typeof slower,
  { alone, unfollowed, beside }: HostileReport,
): Goal {
  const p99 = (samples: Samples) => quantile(samples[kind], 0.99);
  const [before, unseen, after] = [p99(alone), p99(unfollowed), p99(beside)];
  const times = before === 0 ? 0 : after / before;
  const counts = `of ${alone[kind].length} alone and ${beside[kind].length} with hostile contracts`;
  return {
    text: `p99 of ${titles[kind]} at most ${slower[kind]} times alone: ${before} and ${after} ms, ${times.toFixed(2)} times (${counts}); with these on a chain that nobody follows ${unseen} ms`,
    isMet: before > 0 && after > 0 && times <= slower[kind],
  };
}

const bytesPerGas = ({ gas, costs }: Pick<TrickCosts, "gas" | "costs">) =>
  gas === 0 ? 0 : costs.bytes / gas;

/** A Markdown table of what each trick costs its attacker and us, for one time of it. */
export function tableOf(tricks: readonly TrickCosts[]): string {
  const rows = tricks.map((trick) => {
    const { name, times, gas, costs, reads, delayed } = trick;
    const each = (amount: number, digits = 0) => (amount / Math.max(1, times)).toFixed(digits);
    const cells = [
      ...[`\`${name}\``, each(gas), each(costs.bytes), bytesPerGas(trick).toFixed(3)],
      ...[each(costs.cpuSeconds, 2), each(costs.rpcCalls), `${delayed} of ${reads}`],
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| trick | gas | bytes of database | bytes per gas | CPU s | calls of nodes | honest reads delayed |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
