/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The loaders of gdk-pixbuf are many hands' work, some can be made to run for minutes or to take
 * all memory, and none can be stopped. So they run in a process of their own, softbox-decoder,
 * which is given little memory and is killed when it takes too long or nobody waits for it any
 * more.
 *
 * It has two descriptors: a socket (0) and a file in memory (3). The socket brings an SbDecoderAsk,
 * then the picture's file up to its end, and takes one SbDecoderAnswer; the file in memory takes
 * width × height pixels, RGBA, 8 bits, straight alpha, and behind them the ICC profile. Whoever
 * asks believes nothing of the answer before it is checked. */
#define SB_DECODER_PROGRAM "softbox-decoder"
#define SB_DECODER_MAGIC   0x53424431u
#define SB_DECODER_SOCKET  0
#define SB_DECODER_MEMORY  3

/* Whether its memory is limited: what the sanitizers take has no bounds. */
#if defined(__SANITIZE_ADDRESS__)
#define SB_DECODER_LIMITS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SB_DECODER_LIMITS_MEMORY 0
#endif
#endif
#ifndef SB_DECODER_LIMITS_MEMORY
#define SB_DECODER_LIMITS_MEMORY 1
#endif

/* More than any real profile has. */
#define SB_DECODER_MAX_PROFILE ((guint64)64 << 20)

typedef struct
{
  guint32 magic;
  guint32 max_side;
  guint64 max_pixels;
  guint64 max_bytes; /* of the file */
  guint64 max_memory;
} SbDecoderAsk;

typedef enum
{
  SB_DECODER_PICTURE,
  SB_DECODER_TOO_MANY_PIXELS, /* width and height tell; nothing was decoded */
  SB_DECODER_TOO_LONG,        /* more than max_bytes came */
  SB_DECODER_UNKNOWN,         /* no loader for it */
  SB_DECODER_DAMAGED,         /* message tells, where it is not empty */
  SB_DECODER_NO_MEMORY
} SbDecoderStatus;

typedef struct
{
  guint32 magic;
  guint32 status; /* SbDecoderStatus */
  guint64 width, height;
  guint32 orientation; /* 1 .. 8 as EXIF has it, 0 where the loader does not tell */
  guint32 whole;       /* every row is there */
  guint32 animated;
  guint32 reserved;
  guint64 profile_bytes;
  char format[32]; /* "gif" */
  char message[256];
} SbDecoderAnswer;

/* What softbox-decoder does. Both descriptors stay the caller's. FALSE when nobody listens. */
gboolean sb_decoder_serve (int socket, int memory);

G_END_DECLS
