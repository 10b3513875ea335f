/** What the features have counted since the start. */
export interface FeatureCounts {
  readonly deferredRecords: number;
  readonly artifacts: {
    readonly refused: Readonly<Record<string, number>>;
    readonly unclaimed: number;
  };
  /** By reason. */
  readonly agentRefusals: Readonly<Record<string, number>>;
}

export const NO_COUNTS: FeatureCounts = {
  deferredRecords: 0,
  artifacts: { refused: {}, unclaimed: 0 },
  agentRefusals: {},
};
