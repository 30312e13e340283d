/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* What tests of the document share: the main loop, turned until something holds. A source that
 * always has something to do (sb_test_wake_up, every few milliseconds) keeps a turn from waiting
 * for good. */

static inline gboolean
sb_test_wake_up (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* Runs the main loop until the condition holds; a minute without it fails. */
#define wait_for(condition)                                                                        \
  G_STMT_START                                                                                     \
  {                                                                                                \
    const gint64 give_up = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;                          \
    while (!(condition))                                                                           \
      {                                                                                            \
        g_assert_cmpint (g_get_monotonic_time (), <, give_up);                                     \
        g_main_context_iteration (NULL, TRUE);                                                     \
      }                                                                                            \
  }                                                                                                \
  G_STMT_END

static inline gboolean
sb_test_get_flag (gpointer object, const char *property)
{
  gboolean value;
  g_object_get (object, property, &value, NULL);
  return value;
}

G_END_DECLS
