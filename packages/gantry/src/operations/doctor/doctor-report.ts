/** One thing that was looked at. */
export interface DoctorCheck {
  readonly name: string;
  /** `broken` keeps something from working; `warning` does not, or not yet. */
  readonly state: 'ok' | 'warning' | 'broken';
  /** What was found. */
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
}

/** What a look at the whole installation found. */
export interface DoctorReport {
  /** False when something is broken. */
  readonly ok: boolean;
  readonly checks: readonly DoctorCheck[];
}

/** A report of these checks. */
export const toReport = (checks: readonly DoctorCheck[]): DoctorReport => ({
  ok: checks.every((check) => check.state !== 'broken'),
  checks,
});
