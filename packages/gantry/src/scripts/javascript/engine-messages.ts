/** What a worker with an engine is told to run. */
export interface EngineRun {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly keptOutputBytes: number;
  readonly maxOutputBytes: number;
}

/** What it tells when the run is over. */
export interface EngineEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly ended?: 'time' | 'output' | undefined;
}
