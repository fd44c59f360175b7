/** How well values are calibrated: positions (or moves) grouped by the value the network gave them. */
export interface CalibrationBin {
  from: number; // values in [from, to)
  to: number;
  positions: number;
  predicted: number; // mean of the network's values
  actual: number; // mean of the true ones
}

/** How well predicted chances agree with what happened. */
export interface Calibrated {
  calibrationError: number; // mean |predicted - actual| over the bins, weighed by their positions
  calibration: CalibrationBin[];
}

const BINS = 10;

/** Gathers values between two bounds. */
export class Calibration {
  private readonly bins = Array.from({ length: BINS }, () => ({ positions: 0, predicted: 0, actual: 0 }));
  private positions = 0;

  constructor(
    private readonly low: number,
    private readonly high: number,
  ) {}

  add(predicted: number, actual: number): void {
    const share = (predicted - this.low) / (this.high - this.low);
    const bin = this.bins[Math.max(0, Math.min(BINS - 1, Math.floor(share * BINS)))];
    bin.positions++;
    bin.predicted += predicted;
    bin.actual += actual;
    this.positions++;
  }

  result(): Calibrated {
    const edge = (i: number) => this.low + ((this.high - this.low) * i) / BINS;
    return {
      calibrationError: this.bins.reduce((sum, bin) => sum + Math.abs(bin.predicted - bin.actual), 0) / this.positions,
      calibration: this.bins.flatMap(({ positions, predicted, actual }, i) =>
        positions === 0
          ? []
          : {
              from: edge(i),
              to: edge(i + 1),
              positions,
              predicted: predicted / positions,
              actual: actual / positions,
            },
      ),
    };
  }

  static describe({ calibrationError, calibration }: Calibrated): string[] {
    return [
      `calibration off  ${calibrationError.toFixed(4)}`,
      ...calibration.map(
        (bin) =>
          `  ${bin.from.toFixed(1).padStart(4)} .. ${bin.to.toFixed(1).padStart(4)}  ${String(bin.positions).padStart(8)}  predicted ${bin.predicted.toFixed(3).padStart(6)}  true ${bin.actual.toFixed(3).padStart(6)}`,
      ),
    ];
  }
}
