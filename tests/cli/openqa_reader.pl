#!/usr/bin/env perl
# openqa_reader.pl FILE: what openQA shows of a test that prints KTAP in kselftest's wrapping: "name: result, N subtests".
#
# By the rules of openQA's parser, which is based on TAP::Parser, as this is: a comment "# selftests: NAME" begins a group that has passed
# until it is said otherwise; comments that are lines of tests are its subtests, of which a failure fails the group, and a skip
# is not seen; and a test "selftests: NAME" ends it, which fails or skips it.
use strict;
use warnings;
use TAP::Parser;

my ( $name, $result, $subtests );

sub finish {
    print "$name: $result, $subtests subtests\n" if defined $name;
    undef $name;
}

open my $in, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
my $parser = TAP::Parser->new( { tap => do { local $/; <$in> } } );
while ( my $line = $parser->next ) {
    my $text = $line->as_string;
    if ( $line->is_comment && $text =~ /^#\s*selftests:\s+(.*)/ ) {
        finish();
        ( $name, $result, $subtests ) = ( $1, 'passed', 0 );
    }
    elsif ( $line->is_comment && defined $name && $text =~ /^#\s*(ok|not ok)\s+\d+\s+/ ) {
        next if $text =~ /#\s*SKIP\b/i;
        $subtests++;
        $result = 'fail' if $1 eq 'not ok';
    }
    elsif ( $line->is_test && $line->description =~ /^selftests: / ) {
        $result = $text =~ /^not ok\b/ ? 'fail' : $text =~ /#\s*SKIP\b/i ? 'skip' : $result;
        finish();
    }
}
finish();
