/** When to come back after a line was lost, and when not at all. */

/** Milliseconds to wait before attempt 0, 1, 2…: between half a second and a bound that doubles up to 20 s. */
export function backOff(attempt: number, random: number): number {
  const bound = Math.min(20_000, 500 * 2 ** (attempt + 1));
  return 500 + random * (bound - 500);
}

/** Codes 45xx say that coming back would be refused again. */
export const isFinal = (code: number): boolean => code >= 4500 && code <= 4599;
