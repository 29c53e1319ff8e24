/* Plain alpha-beta for Riskless: the same loop, layout and tables as bots/compiled/plain.py, in C.

   The frame and the rules are read from the same arrays that the compiled Python uses, so that both
   search the same tree from the same memory. Compiled by benchmarks/engine/native.py for each
   number of planes, with -O3 -march=native. */
#include <stdint.h>

#ifndef PLANES
#define PLANES 4
#endif
#define WIDE (PLANES + 1)
#define WIN 1000000
#define INFINITY_ (WIN + 1)
#define ROADS (64 * 63)
#define TABLE (2 << (2 * PLANES))

typedef struct {
  uint64_t plane[PLANES], foe, own;
  int64_t totals; /* the mover's in the upper half, the other's in the lower */
  uint64_t trained[PLANES];
  int64_t trained_totals;
  uint64_t at_least[PLANES <= 4 ? 1 << PLANES : 0]; /* what the features keep of a position; not read here */
  uint64_t surveyed[6];                             /* nor this, which tells leaves */
  int64_t alpha, beta, best, road, end;
  uint64_t left;
  int64_t source, row;
} frame;

typedef struct {
  uint64_t cap[PLANES];
  int64_t goal, first[65], weights[10], only_armies, beside, rows, neighbours[64], source[ROADS], target[ROADS];
  int64_t around[8 * 256], change[TABLE], result[TABLE];
} rules;

/* The armies on a territory: one bit of each plane. */
#if defined(BY_HAND) && defined(__AVX2__) && PLANES >= 4
#include <immintrin.h>
/* The instructions that intrinsics.column asks LLVM for: each bit to the sign of its lane, then all signs. */
static inline int64_t column(const uint64_t *plane, int64_t territory) {
  const __m128i shift = _mm_cvtsi64_si128(63 - territory);
  int64_t armies = 0;
  for (int i = 0; i < PLANES; i += 4) {
    const int at = i + 4 <= PLANES ? i : PLANES - 4; /* of six planes two are read twice */
    const __m256i words = _mm256_loadu_si256((const __m256i *)(plane + at));
    const __m256i signs = _mm256_sll_epi64(words, shift);
    armies |= (int64_t)_mm256_movemask_pd(_mm256_castsi256_pd(signs)) << at;
  }
  return armies;
}
#else
/* From the highest down, which gcc does best. */
static inline int64_t column(const uint64_t *plane, int64_t territory) {
  int64_t armies = 0;
  for (int i = PLANES - 1; i >= 0; i--) armies = 2 * armies + ((plane[i] >> territory) & 1);
  return armies;
}
#endif

static inline void train(frame *f, const rules *r) {
  uint64_t carry = 0;
  for (int i = 0; i < PLANES; i++) carry |= f->plane[i] ^ r->cap[i];
  carry &= f->own | f->foe;
  f->trained_totals = f->totals + ((int64_t)__builtin_popcountll(f->own & carry) << 32) +
                      __builtin_popcountll(f->foe & carry);
  for (int i = 0; i < PLANES; i++) {
    uint64_t plane = f->plane[i];
    f->trained[i] = plane ^ carry;
    carry &= plane;
  }
}

int64_t plain(frame *restrict stack, const rules *restrict r, int64_t plies_left, int64_t depth) {
  frame *f = stack;
  const int64_t goal = r->goal, horizon = depth < plies_left ? depth : plies_left;
  const int64_t bias = (((int64_t)1 << 31) - goal) * (((int64_t)1 << 32) + 1);
  const int64_t reached = INT64_MIN | ((int64_t)1 << 31);
  int64_t nodes = 1, distance = 1, alpha = -INFINITY_, beta = INFINITY_;
  int64_t road = 0, end = 0, source = 0, row = 0, value;
  train(f, r);
  f->beta = beta;
  f->best = -1;
  uint64_t left = f->own;
  for (;;) {
    if (road == end) {
      if (left) {
        source = __builtin_ctzll(left);
        left &= left - 1;
        road = r->first[source];
        end = r->first[source + 1];
        row = column(f->plane, source) << WIDE;
        continue;
      }
      if (f == stack) {
        f->alpha = alpha;
        return nodes;
      }
      f--;
      distance--;
      value = -alpha;
      alpha = f->alpha;
      beta = f->beta;
      road = f->road;
      end = f->end;
      left = f->left;
      source = f->source;
      row = f->row;
    } else {
      const int64_t target = r->target[road++];
      nodes++;
      const int64_t cell = row + (column(f->plane, target) | (int64_t)((f->foe >> target) & 1) << PLANES);
      const int64_t after = f->trained_totals + r->change[cell];
      const int64_t others = after & 0xffffffff;
      if (((after + bias) & reached) || others == 0) {
        value = WIN - distance;
        if (others >= goal) value = (after >> 32) >= goal ? 0 : -value;
      } else if (distance >= horizon) {
        value = distance >= plies_left ? 0 : 100 * ((after >> 32) - others);
      } else {
        frame *child = f + 1;
        const int64_t result = r->result[cell];
        const uint64_t taken = (uint64_t)(result & 1) << target, one = (uint64_t)1 << source;
        const uint64_t keep = ~(one | (uint64_t)1 << target);
        child->totals = others << 32 | ((after >> 32) & 0xffffffff);
        child->foe = f->own | taken;
        child->own = f->foe & ~taken;
        for (int i = 0; i < PLANES; i++)
          child->plane[i] = (f->trained[i] & keep) | (uint64_t)((result >> (i + 1)) & 1) << target;
        child->plane[0] |= one;
        f->alpha = alpha;
        f->road = road;
        f->end = end;
        f->left = left;
        f->source = source;
        f->row = row;
        const int64_t old = alpha;
        alpha = -beta;
        beta = -old;
        f = child;
        distance++;
        train(f, r);
        f->beta = beta;
        f->best = -1;
        left = f->own;
        road = end;
        continue;
      }
    }
    if (value > alpha) {
      alpha = value;
      f->best = road - 1;
      if (value >= beta) {
        road = end;
        left = 0;
      }
    }
  }
}
