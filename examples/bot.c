/* A bot in C that speaks JSON Lines (docs/stdio.md). It plays every game, with random legal moves.
 *
 *     gcc -O2 -o bot bot.c
 *     arena bot --exec ./bot --name c
 *
 * The keys of each line are in the order of docs/stdio.md, so it is enough to find "legal": and the
 * brackets after it. A bot that reads the position needs a JSON library.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Return the end of the value that begins at `at`: a number, or an array of numbers. */
static const char *after_value(const char *at)
{
    int depth = 0;
    for (;; at++) {
        if (*at == '\0')
            return at;
        if (*at == '[')
            depth++;
        if (*at == ']' && --depth < 0)
            return at;
        if (depth == 0 && (*at == ',' || *at == ']'))
            return *at == ']' ? at + 1 : at;
    }
}

/* Write one of the values of an array, each with the same chance. */
static void answer(const char *list)
{
    const char *chosen = list, *chosen_end = list;
    int seen = 0;
    for (const char *at = list; *at != '\0' && *at != ']';) {
        const char *end = after_value(at);
        if (rand() % ++seen == 0) {
            chosen = at;
            chosen_end = end;
        }
        at = *end == ',' ? end + 1 : end;
    }
    printf("{\"move\": %.*s}\n", (int)(chosen_end - chosen), chosen);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    srand((unsigned)getpid());
    while (getline(&line, &room, stdin) > 0) {
        const char *legal = strstr(line, "\"legal\":[");
        if (strncmp(line, "{\"type\":\"start\"", 15) == 0)
            printf("{\"ready\": true}\n");
        else if (strncmp(line, "{\"type\":\"turn\"", 14) == 0 && legal != NULL)
            answer(legal + strlen("\"legal\":["));
        fflush(stdout); /* a pipe is not a terminal: unflushed, the answer stays here */
    }
    free(line);
    return 0;
}
