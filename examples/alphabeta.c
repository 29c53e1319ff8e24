/* Plain alpha-beta for Riskless in C, over JSON Lines (docs/stdio.md). It evaluates the difference in armies, and deepens
 * iteratively, without a transposition table.
 *
 *     gcc -O3 -march=native -o alphabeta alphabeta.c
 *     arena match "exec:./alphabeta" alphabeta --tc 0.1/move
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, WIN = 1000000, LOST = -WIN - 1 };
static int count, cap, goal, limit, degree[MOST], near[MOST][MOST], best[2], stopped;
static long nodes;
static double until;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1000.0 * t.tv_sec + t.tv_nsec / 1e6;
}

/* Return the text after "key": in a line. Messages have no blanks around their keys. */
static const char *value(const char *line, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) : "";
}

static int number(const char *line, const char *key) { return atoi(value(line, key)); }

/* Read the numbers of a JSON list. Return the text after the list. */
static const char *list(const char *at, int *to, int *length)
{
    char *end;
    for (*length = 0, at++; *at && *at != ']' && *length < MOST; at = *end == ',' ? end + 1 : end)
        to[(*length)++] = strtol(at, &end, 10);
    return at + 1;
}

/* Return the value for the player to move, whose armies are above 0. At the root, store the best move in `best`. */
static int search(const int *armies, int ply, int depth, int alpha, int beta, int distance)
{
    if ((++nodes & 1023) == 0 && now() > until)
        stopped = 1;
    for (int v = 0; v < count && !stopped; v++)
        for (int n = 0; armies[v] > 0 && n < degree[v] && !stopped; n++) {
            int w = near[v][n], after[MOST], mine = 0, theirs = 0, worth;
            int there = armies[w] + armies[v], seat = there < 0 ? -1 : 1; /* a tie is won by the attacker */
            for (int u = 0; u < count; u++) { /* from the view of the other player, who moves next */
                int owner = u == v ? 1 : u == w ? seat : (armies[u] > 0) - (armies[u] < 0);
                int here = abs(u == v ? 0 : u == w ? there : armies[u]) + 1;
                here = owner ? here < cap ? here : cap : 0;
                after[u] = -owner * here;
                *(owner > 0 ? &mine : &theirs) += here;
            }
            if (theirs == 0 || (mine >= goal && theirs < goal))
                worth = WIN - distance;
            else if (theirs >= goal || ply + 1 >= limit)
                worth = theirs >= goal && mine < goal ? distance - WIN : 0;
            else if (depth == 1)
                worth = mine - theirs;
            else
                worth = -search(after, ply + 1, depth - 1, -beta, -alpha, distance + 1);
            if (worth > alpha && !stopped) {
                alpha = worth;
                if (distance == 1)
                    best[0] = v, best[1] = w;
                if (alpha >= beta)
                    return alpha;
            }
        }
    return alpha;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    int sign = 1, armies[MOST], length;
    while (getline(&line, &room, stdin) > 0) {
        if (strncmp(line, "{\"type\":\"start\"", 15) == 0) {
            const char *at = value(line, "neighbours");
            cap = number(line, "territory_cap"), goal = number(line, "armies_to_win");
            limit = number(line, "ply_limit"), sign = strstr(line, "\"seat\":\"maxie\"") ? 1 : -1;
            for (count = 0; *at && *at != ']' && count < MOST; count++)
                at = list(at + 1, near[count], &degree[count]);
            printf("{\"ready\": true}\n");
        } else if (strncmp(line, "{\"type\":\"turn\"", 14) == 0) {
            int depth = 0, found = 0, mine = number(line, "mine_ms"), move[2] = {0, 0};
            int per_move = strncmp(value(line, "per_move"), "true", 4) == 0;
            until = now() + (per_move ? 0.8 * mine : mine / 30.0 + 0.8 * number(line, "increment_ms"));
            list(value(line, "armies"), armies, &length);
            for (int v = 0; v < count; v++)
                armies[v] *= sign;
            for (stopped = 0, nodes = 0; depth < 60 && abs(found) < WIN - 100; depth++) {
                int worth = search(armies, number(line, "ply"), depth + 1, LOST, WIN + 1, 1);
                if (stopped && depth > 0)
                    break;
                found = worth, memcpy(move, best, sizeof move);
            }
            printf("{\"move\": [%d, %d], \"depth\": %d, \"value\": %d, \"nodes\": %ld}\n", move[0], move[1],
                   depth, sign * found, nodes);
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
