// What the trainer of NNUE networks is told at an address, the plan: 32-bit fields, sizes and addresses of arrays.
// assembly/train/plan.ts has the same numbers, a test compares them.
export const HIDDEN_AT = 0; // neurons for each point of view, a multiple of 32
export const ROWS_AT = 4; // inputs in all
export const KINDS_AT = 8; // of inputs: row k * kinds + i is input i for king k
export const SLOTS_AT = 12; // room for positions
export const LAYERS_AT = 16; // 1 as HalfKP's 32-32-1, 2 one output straight away
export const OUTPUTS_AT = 20; // how many
export const INPUTS_AT = 24; // u16 x 2 x 32 for each slot, mover first
export const FACTS_AT = 28; // 8 bytes for each slot: u8 number of inputs, u8 output, i16 score, i8 result, u8 x 2 king buckets
export const NUMBERS_AT = 32; // u32 [slots][2] of the points of view, by position
export const SUMS_AT = 36; // f32 [slices][2 * slots][32] of the first layer, by number; learning puts the derivatives of the loss in their place
export const STARTS_AT = 40; // u32 [rows + 1]: input r is on for the points of view points[starts[r]] .. points[starts[r + 1] - 1]
export const POINTS_AT = 44; // u32 [...], each 128 times a number
export const DENSE_AT = 48; // f32, biases of the first layer and all that comes behind it
export const DENSE_BYTES_AT = 52; // a multiple of 64
export const FIRST_WEIGHTS_AT = 56; // from here to OUTPUT_BIASES: offsets in the dense part. [2 * hidden][32]
export const FIRST_BIASES_AT = 60;
export const SECOND_WEIGHTS_AT = 64; // [32][32]
export const SECOND_BIASES_AT = 68;
export const OUTPUT_WEIGHTS_AT = 72; // [outputs][2 * hidden] or [32]
export const OUTPUT_BIASES_AT = 76;
export const LOGIT_AT = 80; // f32: of the prediction 1 / (1 + exp(-logit * output))
export const SCORE_LOGIT_AT = 84; // f32: logit of a score of one centipawn
export const RESULT_SHARE_AT = 88; // f32
export const KINGS_AT = 92; // u32 [64 + 1]: king k has the numbers kings[k] .. kings[k + 1] - 1
export const ON_KINDS_AT = 96; // inputs that are on, by number: u32 [2 * slots][32], 128 times the kind
export const ON_COUNTS_AT = 100; // how many those are: u8 [2 * slots]
export const ORDER_AT = 104; // u32 [slots], which slot is the first position, the second, ...

export const PLAN_BYTES = 128;
