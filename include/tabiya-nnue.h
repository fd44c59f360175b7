/*
 * Evaluates networks written by `tabiya export NET net.raw`: 768 inputs, one wide layer a side, squared clipped ReLU, one output.
 * One header, C99, no dependencies, nothing allocated. The integers are those of `tabiya nnue eval`, bit for bit.
 *
 *   static unsigned char bytes[] = { ... };                    // the file, in memory that is aligned to 4 bytes or more
 *   TabiyaNet net;
 *   const char *problem = tabiya_open(&net, bytes, size);      // NULL if all is well; `net` points into `bytes`
 *   int centipawns = tabiya_evaluate(&net, board, black);      // for the side to move
 *
 * An engine keeps two accumulators for each position and changes them by what a move changes: tabiya_add and tabiya_remove,
 * or tabiya_refresh when tabiya_needs_refresh says so. Then tabiya_output.
 *
 * `board` has 64 bytes, a1 = 0, b1 = 1, ... h8 = 63: 0 for an empty square, else 1..6 for P N B R Q K of White, plus 8 for Black.
 * The layout of the file is in docs/formats/raw.md. Numbers are little-endian, as on nearly every machine there is.
 *
 * Part of Tabiya. This file alone may be used, changed and passed on without any condition (CC0).
 */
#ifndef TABIYA_NNUE_H
#define TABIYA_NNUE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TABIYA_MAX_HIDDEN 2048

typedef struct {
  int hidden;       /* neurons a side */
  int buckets;      /* sets of feature weights, chosen by the place of the own king */
  int outputs;      /* sets of output weights, chosen by the number of pieces */
  int mirrored;     /* whether the board is turned left to right when the own king stands on the files e to h */
  int full;         /* a neuron is at most this */
  int32_t factor;   /* a unit of the output in 2^-32 centipawns */
  const uint8_t *king_bucket;      /* [64] */
  const int16_t *feature_weights;  /* [buckets * 768][hidden] */
  const int16_t *feature_bias;     /* [hidden] */
  const int16_t *output_weights;   /* [outputs][2 * hidden], the mover's half first */
  const int32_t *output_bias;      /* [outputs] */
} TabiyaNet;

static inline uint32_t tabiya_u32(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Finds the parts of a network in its bytes; returns what is wrong, or NULL. */
static inline const char *tabiya_open(TabiyaNet *net, const void *data, size_t size) {
  const unsigned char *p = (const unsigned char *)data;
  if (size < 128 || memcmp(p, "TNNR", 4) != 0) return "not a raw network of tabiya";
  if (tabiya_u32(p + 4) != 1) return "a raw network of another version";
  uint32_t hidden = tabiya_u32(p + 8), buckets = tabiya_u32(p + 12), outputs = tabiya_u32(p + 16);
  if (hidden < 32 || hidden > TABIYA_MAX_HIDDEN || hidden % 32 != 0) return "a number of neurons that cannot be";
  if (buckets < 1 || buckets > 64 || outputs < 1 || outputs > 32) return "a number of buckets that cannot be";
  size_t features = (size_t)buckets * 768 * hidden;
  size_t expected = 128 + 2 * (features + hidden + (size_t)outputs * 2 * hidden) + 4 * (size_t)outputs;
  if (size != expected) return "a file that was cut off, or has something behind it";
  for (int i = 0; i < 64; i++) if (p[64 + i] >= buckets) return "a king bucket without weights";
  net->hidden = (int)hidden;
  net->buckets = (int)buckets;
  net->outputs = (int)outputs;
  net->mirrored = tabiya_u32(p + 20) != 0;
  net->full = (int)tabiya_u32(p + 24);
  net->factor = (int32_t)tabiya_u32(p + 36);
  net->king_bucket = p + 64;
  net->feature_weights = (const int16_t *)(const void *)(p + 128);
  net->feature_bias = net->feature_weights + features;
  net->output_weights = net->feature_bias + hidden;
  net->output_bias = (const int32_t *)(const void *)(net->output_weights + (size_t)outputs * 2 * hidden);
  return NULL;
}

/* How a side looks at the board (color: 0 White, 1 Black; king: where its king stands): XOR it to squares. */
static inline int tabiya_turn(const TabiyaNet *net, int color, int king) {
  return (color ? 56 : 0) ^ (net->mirrored && (king & 7) >= 4 ? 7 : 0);
}

/* The row of feature weights of a piece (1..6, plus 8 for Black) on a square. */
static inline const int16_t *tabiya_row(const TabiyaNet *net, int color, int king, int piece, int square) {
  int turn = tabiya_turn(net, color, king);
  int kind = (piece & 7) - 1 + ((piece >> 3) == color ? 0 : 6);
  size_t input = (size_t)net->king_bucket[king ^ turn] * 768 + (size_t)kind * 64 + (size_t)(square ^ turn);
  return net->feature_weights + input * (size_t)net->hidden;
}

/* A piece comes to a square, in the accumulator of one side. */
static inline void tabiya_add(const TabiyaNet *net, int16_t *acc, int color, int king, int piece, int square) {
  const int16_t *row = tabiya_row(net, color, king, piece, square);
  for (int i = 0; i < net->hidden; i++) acc[i] = (int16_t)(acc[i] + row[i]);
}

/* A piece leaves a square. */
static inline void tabiya_remove(const TabiyaNet *net, int16_t *acc, int color, int king, int piece, int square) {
  const int16_t *row = tabiya_row(net, color, king, piece, square);
  for (int i = 0; i < net->hidden; i++) acc[i] = (int16_t)(acc[i] - row[i]);
}

/* Whether a king's move changes the weights its side uses, so that its accumulator has to be made anew. */
static inline int tabiya_needs_refresh(const TabiyaNet *net, int color, int from, int to) {
  int a = tabiya_turn(net, color, from), b = tabiya_turn(net, color, to);
  return a != b || net->king_bucket[from ^ a] != net->king_bucket[to ^ b];
}

static inline int tabiya_king(const unsigned char *board, int color) {
  int square = 0;
  while (square < 63 && board[square] != (6 | color << 3)) square++;
  return square;
}

/* The accumulator of one side for a whole board; acc has net->hidden numbers. */
static inline void tabiya_refresh(const TabiyaNet *net, int16_t *acc, const unsigned char *board, int color) {
  int king = tabiya_king(board, color);
  memcpy(acc, net->feature_bias, (size_t)net->hidden * sizeof(int16_t));
  for (int square = 0; square < 64; square++)
    if (board[square]) tabiya_add(net, acc, color, king, board[square], square);
}

static inline int64_t tabiya_dot(const TabiyaNet *net, const int16_t *acc, const int16_t *weights) {
  int64_t sum = 0;
  for (int i = 0; i < net->hidden; i++) {
    int x = acc[i] < 0 ? 0 : acc[i] >> 3; /* sums are in eighths of a neuron's unit */
    if (x > net->full) x = net->full;
    sum += (int64_t)x * x * weights[i];
  }
  return sum;
}

/* Centipawns for the side to move, from its accumulator and the other's; pieces: on the board, kings counted. */
static inline int tabiya_output(const TabiyaNet *net, const int16_t *ours, const int16_t *theirs, int pieces) {
  int per_output = (32 + net->outputs - 1) / net->outputs;
  int output = (pieces - 2) / per_output;
  const int16_t *weights = net->output_weights + (size_t)output * 2 * (size_t)net->hidden;
  int64_t sum = net->output_bias[output];
  sum += tabiya_dot(net, ours, weights) + tabiya_dot(net, theirs, weights + net->hidden);
  int64_t value = sum * net->factor + INT64_C(0x80000000);
  /* Rounds down, below zero too, whatever the compiler's >> does there. */
  return (int)(value >= 0 ? value / INT64_C(0x100000000) : -((-value + INT64_C(0xffffffff)) / INT64_C(0x100000000)));
}

/* Centipawns for the side to move of a board that nothing is known about: slow, and never wrong. */
static inline int tabiya_evaluate(const TabiyaNet *net, const unsigned char *board, int black) {
  int16_t ours[TABIYA_MAX_HIDDEN], theirs[TABIYA_MAX_HIDDEN];
  int pieces = 0;
  for (int square = 0; square < 64; square++) pieces += board[square] != 0;
  tabiya_refresh(net, ours, board, black);
  tabiya_refresh(net, theirs, board, !black);
  return tabiya_output(net, ours, theirs, pieces);
}

#endif
