import { expect, it } from "vitest";
import { trackFollower } from "./service-status.ts";

it("is never late behind a target that does not move", () => {
  const lag = trackFollower(0);
  expect(lag(10, 10, 0)).toEqual({ behind: 0, seconds: 0, caughtUp: true });
  expect(lag(10, 10, 3_600_000)).toMatchObject({ behind: 0, seconds: 0 });
});

it("counts from when the oldest missed step was seen, not from the step before", () => {
  const lag = trackFollower(0);
  lag(10, 10, 0);
  expect(lag(11, 10, 3_600_000)).toMatchObject({ behind: 1, seconds: 0 });
  expect(lag(12, 10, 3_604_000)).toMatchObject({ behind: 2, seconds: 4 });
  expect(lag(13, 11, 3_606_000)).toMatchObject({ behind: 2, seconds: 2 });
  expect(lag(13, 13, 3_607_000)).toMatchObject({ behind: 0, seconds: 0 });
});

it("keeps counting while the target flaps", () => {
  const lag = trackFollower(0);
  lag(100, 90, 0);
  expect(lag(95, 90, 1000)).toMatchObject({ behind: 5, seconds: 1 });
  expect(lag(100, 90, 2000)).toMatchObject({ behind: 10, seconds: 2 });
});

it("has caught up once it was close enough, and stays so", () => {
  const lag = trackFollower(2);
  expect(lag(100, 50, 0).caughtUp).toBe(false);
  expect(lag(100, 98, 1000).caughtUp).toBe(true);
  expect(lag(200, 98, 2000).caughtUp).toBe(true);
});
